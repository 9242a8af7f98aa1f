package com.example.app

import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.withContext
import org.json.JSONObject
import java.io.IOException
import java.net.HttpURLConnection
import java.net.URL

/** A refusal: `code` is stable and made for programs, `message` for a developer's eyes. */
class TollgateRefusal(val status: Int, val code: String, message: String) : Exception(message) {
    /** Whether the same request may succeed later: keep the purchase and send it again. */
    val mayBeRetried get() = status == 429 || status >= 500
}

/** What Google Play sells a product as, and the account id that goes with the purchase. */
data class Preparation(val playProductId: String, val obfuscatedAccountId: String)

/** An entitlement that is active: `until` in UNIX milliseconds, null for ever. */
data class Entitlement(val lookupKey: String, val until: Long?)

/**
 * The HTTP calls of an Android app to a Tollgate server.
 *
 * [session] is the client secret of a customer session. The app's own backend makes one with its
 * secret key (see Examples/Backend) and hands it out to whoever is signed in there.
 */
class Tollgate(
    private val server: String,
    private val publishableKey: String,
    private val session: suspend () -> Session,
) {
    data class Session(val customer: String, val clientSecret: String)

    /** Ask before buying: refused with `already_active` where the customer has the product. */
    suspend fun prepare(product: String): Preparation {
        val answer = call("POST", "/v1/google_play/purchase_preparations", JSONObject().put("product", product))
        return Preparation(
            answer.getString("google_play_product_id"),
            answer.getString("obfuscated_account_id"),
        )
    }

    /**
     * Hand over a purchase. The server reads it from Google, grants what was paid for and
     * acknowledges or consumes it. The app does neither.
     */
    suspend fun post(purchase: PostedPurchase) {
        val body = JSONObject()
            .put("purchase_token", purchase.token)
            .put("kind", purchase.kind)
            .put("product_id", purchase.productId)
            .put("mode", purchase.mode)
            .put(
                "signed",
                JSONObject().put("original_json", purchase.json).put("signature", purchase.signature),
            )
        call("POST", "/v1/google_play/purchases", body)
    }

    /** What the customer may use right now, whichever store took the money. */
    suspend fun entitlements(): List<Entitlement> {
        val answer = call("GET", "/v1/customers/${session().customer}/entitlements", null)
        val data = answer.getJSONArray("data")
        return (0 until data.length()).map { index ->
            val one = data.getJSONObject(index)
            Entitlement(
                one.getString("lookup_key"),
                if (one.isNull("until")) null else one.getLong("until"),
            )
        }
    }

    private suspend fun call(method: String, path: String, body: JSONObject?): JSONObject {
        val secret = session().clientSecret
        return withContext(Dispatchers.IO) {
            val connection = URL(server + path).openConnection() as HttpURLConnection
            try {
                connection.requestMethod = method
                connection.setRequestProperty("Authorization", "Bearer $publishableKey")
                connection.setRequestProperty("Tollgate-Customer-Session", secret)
                if (body != null) {
                    connection.doOutput = true
                    connection.setRequestProperty("Content-Type", "application/json")
                    connection.outputStream.use { it.write(body.toString().toByteArray()) }
                }
                val status = connection.responseCode
                val stream = if (status < 400) connection.inputStream else connection.errorStream
                val text = stream?.bufferedReader()?.use { it.readText() }.orEmpty()
                if (status < 400) return@withContext JSONObject(text)
                val error = runCatching { JSONObject(text).getJSONObject("error") }.getOrNull()
                    ?: throw IOException("The server answered $status.")
                throw TollgateRefusal(status, error.getString("code"), error.getString("message"))
            } finally {
                connection.disconnect()
            }
        }
    }
}

/** A purchase as it is posted: `kind` is subscription or one_time, `mode` says how it was found. */
data class PostedPurchase(
    val token: String,
    val kind: String,
    val productId: String,
    val mode: String,
    val json: String,
    val signature: String,
)
