package com.example.app

import android.app.Activity
import android.content.Context
import com.android.billingclient.api.BillingClient
import com.android.billingclient.api.BillingClient.BillingResponseCode
import com.android.billingclient.api.BillingClient.ProductType
import com.android.billingclient.api.BillingClientStateListener
import com.android.billingclient.api.BillingFlowParams
import com.android.billingclient.api.BillingResult
import com.android.billingclient.api.PendingPurchasesParams
import com.android.billingclient.api.Purchase
import com.android.billingclient.api.PurchasesUpdatedListener
import com.android.billingclient.api.QueryProductDetailsParams
import com.android.billingclient.api.QueryPurchasesParams
import com.android.billingclient.api.queryProductDetails
import com.android.billingclient.api.queryPurchasesAsync
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.launch
import java.io.IOException

/**
 * Buying and restoring with Play Billing Library 8 or 9; Tollgate decides what it opens.
 *
 * Call [look] whenever the app comes to the foreground: purchases are also made outside the app
 * (promo codes, resubscribing in Google Play), and pending ones are paid hours later.
 */
class Shop(
    context: Context,
    private val tollgate: Tollgate,
    private val scope: CoroutineScope,
    private val onChange: () -> Unit,
    private val onProblem: (String) -> Unit,
) : PurchasesUpdatedListener {
    private val billing = BillingClient.newBuilder(context.applicationContext)
        .setListener(this)
        .enablePendingPurchases(PendingPurchasesParams.newBuilder().enableOneTimeProducts().build())
        .enableAutoServiceReconnection()
        .build()

    /** What each product that this app has offered is: a subscription or bought once. */
    private val types = mutableMapOf<String, String>()

    /** Connects; the library connects again by itself when Google Play goes away. */
    fun start() = billing.startConnection(object : BillingClientStateListener {
        override fun onBillingSetupFinished(result: BillingResult) {
            if (result.responseCode == BillingResponseCode.OK) scope.launch { look() }
        }

        override fun onBillingServiceDisconnected() = Unit
    })

    /** [product] is an id of your catalog; [type] is ProductType.SUBS or ProductType.INAPP. */
    suspend fun buy(activity: Activity, product: String, type: String, offerToken: String? = null) {
        val preparation = try {
            tollgate.prepare(product)
        } catch (refusal: TollgateRefusal) {
            return onProblem(refusal.message.orEmpty()) // `already_active` among others
        } catch (_: IOException) {
            return onProblem("The server cannot be reached; nothing was bought.")
        }
        types[preparation.playProductId] = type
        val wanted = QueryProductDetailsParams.Product.newBuilder()
            .setProductId(preparation.playProductId)
            .setProductType(type)
            .build()
        val found = billing.queryProductDetails(
            QueryProductDetailsParams.newBuilder().setProductList(listOf(wanted)).build(),
        )
        val details = found.productDetailsList?.firstOrNull()
            ?: return onProblem("Google Play does not sell ${preparation.playProductId} here.")
        val item = BillingFlowParams.ProductDetailsParams.newBuilder().setProductDetails(details)
        val offer = offerToken ?: details.subscriptionOfferDetails?.firstOrNull()?.offerToken
        if (offer != null) item.setOfferToken(offer)
        // The account id makes the purchase this customer's, also where the app dies before it posts.
        val params = BillingFlowParams.newBuilder()
            .setProductDetailsParamsList(listOf(item.build()))
            .setObfuscatedAccountId(preparation.obfuscatedAccountId)
            .build()
        billing.launchBillingFlow(activity, params) // onPurchasesUpdated hears of failures, too
    }

    /** Google Play tells of a purchase that the app has started, or that became paid meanwhile. */
    override fun onPurchasesUpdated(result: BillingResult, purchases: List<Purchase>?) {
        when (result.responseCode) {
            BillingResponseCode.OK -> scope.launch {
                // What this app has not started was bought outside of it.
                val (bought, found) = purchases.orEmpty().partition { it.products.first() in types }
                for (purchase in bought) {
                    post(listOf(purchase), "purchased", types.getValue(purchase.products.first()))
                }
                if (found.isNotEmpty()) look()
            }
            BillingResponseCode.USER_CANCELED -> Unit
            BillingResponseCode.ITEM_ALREADY_OWNED -> scope.launch { look() }
            else -> onProblem(result.debugMessage)
        }
    }

    /** Posts what this device has. With [restoring] it also claims what another customer owns here. */
    suspend fun look(restoring: Boolean = false) {
        for (type in listOf(ProductType.SUBS, ProductType.INAPP)) {
            val params = QueryPurchasesParams.newBuilder().setProductType(type).build()
            val found = billing.queryPurchasesAsync(params)
            if (found.billingResult.responseCode != BillingResponseCode.OK) continue
            post(found.purchasesList, if (restoring) "restored" else "observed", type)
        }
    }

    private suspend fun post(purchases: List<Purchase>, mode: String, type: String) {
        for (purchase in purchases) {
            // A pending purchase is posted when it is paid: this listener hears of it then.
            if (purchase.purchaseState != Purchase.PurchaseState.PURCHASED) continue
            try {
                tollgate.post(
                    PostedPurchase(
                        token = purchase.purchaseToken,
                        kind = if (type == ProductType.SUBS) "subscription" else "one_time",
                        productId = purchase.products.first(),
                        mode = mode,
                        json = purchase.originalJson,
                        signature = purchase.signature,
                    ),
                )
            } catch (refusal: TollgateRefusal) {
                // What may succeed later is posted again by the next look().
                if (!refusal.mayBeRetried && mode != "observed") onProblem(refusal.message.orEmpty())
            } catch (_: IOException) {
                // Offline: the server hears of the purchase from Google, and from the next look().
            }
        }
        onChange()
    }
}
